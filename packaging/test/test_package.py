"""The .deb and the image of `./x package`: contents, installation into an empty root, upgrade, removal, and that the programs there start.

As root. HEDDLE_PACKAGES is the folder with the packages; `./x test package` makes them.
"""

import gzip
import hashlib
import json
import os
import pathlib
import subprocess
import tarfile

import pytest

PACKAGES = pathlib.Path(os.environ["HEDDLE_PACKAGES"])
PROGRAMS = ["usr/sbin/heddled", "usr/sbin/heddle-switch", "usr/sbin/heddle-agent", "usr/bin/heddle", "usr/bin/heddle-lb", "usr/bin/heddle-path-service"]
UNITS = [
    "heddled.service",
    "heddle-switch@.service",
    "heddle-agent.service",
    "heddle-announce.service",
    "heddle-decap@.service",
    "heddle-translate@.service",
]


def run(*command: object) -> str:
    """Runs a command that must succeed; its output."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def deb() -> pathlib.Path:
    """The package."""
    (found,) = PACKAGES.glob("heddle_*.deb")
    return found


def dpkg(root: pathlib.Path, *arguments: object) -> str:
    """dpkg on another root, which has no shell: maintainer scripts run outside of it and get its path (DPKG_ROOT)."""
    return run("dpkg", f"--root={root}", "--force-script-chrootless", "--force-depends", "--force-confold", *arguments)


@pytest.fixture(name="installed")
def fixture_installed(tmp_path: pathlib.Path) -> pathlib.Path:
    """An empty root with the package installed."""
    for folder in ["info", "updates"]:
        (tmp_path / "var/lib/dpkg" / folder).mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").touch()
    dpkg(tmp_path, "--install", deb())
    return tmp_path


def test_it_needs_libraries_and_no_compiler() -> None:
    """Depends has what the programs link to; the eBPF programs are inside."""
    depends = run("dpkg-deb", "--field", deb(), "Depends")
    names = {word.split(" ")[0] for word in depends.strip().split(", ")}
    assert "libc6" in names
    assert names <= {"libc6", "libgcc-s1"}


def test_every_file_of_etc_is_a_conffile(installed: pathlib.Path) -> None:
    """So that an upgrade never overwrites what an operator has written."""
    listed = run("dpkg-query", f"--admindir={installed}/var/lib/dpkg", "--show", "--showformat=${Conffiles}", "heddle")
    files = {f"/{path.relative_to(installed)}" for path in (installed / "etc").rglob("*") if path.is_file()}
    assert {line.split()[0] for line in listed.strip().splitlines()} == files
    assert "/etc/heddle/heddled.toml" in files


def test_the_programs_start(installed: pathlib.Path) -> None:
    """Those that were installed, with the version of the package."""
    version = run("dpkg-deb", "--field", deb(), "Version").strip().split("-")[0]
    for program in PROGRAMS:
        assert version in run(installed / program, "--version"), program
    assert "check" in run(installed / "usr/bin/heddle", "lb", "--help")


def test_the_configurations_are_sound(installed: pathlib.Path) -> None:
    """That of /etc, and the complete examples."""
    for file in ["etc/heddle/heddled.toml", "usr/share/doc/heddle/examples/heddled.toml"]:
        checked = json.loads(run(installed / "usr/bin/heddle", "lb", "check", installed / file, "--file-only", "--json"))
        assert checked["ok"], file
    switch = installed / "usr/share/doc/heddle/examples/switch/tor-1.toml"
    assert json.loads(run(installed / "usr/sbin/heddle-switch", "--json", "check", switch))["node"] == "tor-1"


def test_the_units_are_sound(installed: pathlib.Path) -> None:
    """Their programs are in the package, and an instance of the template has the same."""
    units = installed / "usr/lib/systemd/system"
    assert {path.name for path in units.iterdir()} == set(UNITS)
    for unit in UNITS:
        for line in (units / unit).read_text().splitlines():
            key, _, command = line.partition("=")
            program = command.split(" ")[0]
            if key in ("ExecStart", "ExecReload", "ExecStopPost") and "heddle" in program:
                assert (installed / program.lstrip("/")).stat().st_mode & 0o111, line


def test_programs_have_manual_pages_and_completions(installed: pathlib.Path) -> None:
    """The names that man, bash, zsh and fish look for."""
    share = installed / "usr/share"
    for program in PROGRAMS:
        name = pathlib.Path(program).name
        assert b".TH" in gzip.decompress((share / f"man/man1/{name}.1.gz").read_bytes())
        for file in [f"bash-completion/completions/{name}", f"zsh/vendor-completions/_{name}", f"fish/vendor_completions.d/{name}.fish"]:
            assert name in (share / file).read_text(), file
    assert (share / "man/man1/heddle-lb-check.1.gz").exists()


def test_an_upgrade_keeps_the_configuration(installed: pathlib.Path) -> None:
    """Installed once more over a changed file."""
    file = installed / "etc/heddle/heddled.toml"
    file.write_text(file.read_text().replace("lb1", "lb7"))
    dpkg(installed, "--install", deb())
    assert "lb7" in file.read_text()


def test_a_purge_leaves_nothing_but_what_the_operator_made(installed: pathlib.Path) -> None:
    """A secret is the operator's."""
    secret = installed / "etc/heddle/secret"
    secret.write_text("00")
    dpkg(installed, "--purge", "heddle")
    left = [path for path in installed.rglob("*") if path.is_file() and "var/lib/dpkg" not in str(path)]
    assert left == [secret]


def test_the_image_is_whole_and_its_program_starts(tmp_path: pathlib.Path) -> None:
    """By the digests from the index to the layer; the program runs with that root, which has all that it links to."""
    (archive,) = PACKAGES.glob("*-oci.tar")
    with tarfile.open(archive) as image:

        def blob(descriptor: dict[str, str]) -> bytes:
            algorithm, digest = descriptor["digest"].split(":")
            content = image.extractfile(f"blobs/{algorithm}/{digest}")
            assert content is not None
            data = content.read()
            assert hashlib.sha256(data).hexdigest() == digest
            return data

        index = image.extractfile("index.json")
        assert index is not None
        manifest = json.loads(blob(json.load(index)["manifests"][0]))
        config = json.loads(blob(manifest["config"]))
        layer = gzip.decompress(blob(manifest["layers"][0]))
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    (tmp_path / "layer.tar").write_bytes(layer)
    with tarfile.open(tmp_path / "layer.tar") as files:
        files.extractall(tmp_path / "root")
    (program,) = config["config"]["Entrypoint"]
    assert run("chroot", tmp_path / "root", program, "--version").startswith("heddled ")
