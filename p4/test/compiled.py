"""The programs as p4c compiles them for BMv2: what is committed beside the sources, and how to make it anew.

python3 compiled.py          # compiles all programs again, with p4c at hand

A folder's builds are one archive, in which those that are nearly equal take little more room than one."""

import io
import json
import lzma
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from typing import Any

# Some import this before the folder of heddle_p4 is on the path.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "control"))
from heddle_p4.program import ARCHIVE, unpacked

P4 = pathlib.Path(__file__).resolve().parents[1]
COMPILER = "p4c-bm2-ss"
PROGRAMS = {"ecmp": "ecmp.p4", "hula": "hula.p4", "mp-hula": "mp_hula.p4", "mp-hula-external": "mp_hula.p4", "cflb": "cflb.p4"}
PROGRAMS |= {"shuttle": "shuttle.p4"}
# Programs that are builds of another one's source, in its folder.
VARIANTS = {"mp-hula-external": ("mp-hula", ["-DEXTERNAL_TOKENS"])}
BUILDS = {"": [], "-test": ["-DTEST_INPUTS"]}


def folder_and_flags(program: str) -> tuple[pathlib.Path, list[str]]:
    """Where a program's source is, and how it is compiled."""
    folder, flags = VARIANTS.get(program, (program, []))
    return P4 / folder, flags


def path(program: str, test: bool) -> pathlib.Path:
    """The committed JSON of a program, or of its test build, unpacked."""
    return unpacked(folder_and_flags(program)[0]) / f"{program}{'-test' if test else ''}.json"


def p4info(json_file: pathlib.Path) -> pathlib.Path:
    """The P4Info of a program. A test build has the tables, counters and registers of the other."""
    return json_file.with_name(json_file.stem.removesuffix("-test") + ".p4info.txtpb")


def without_positions(value: Any) -> Any:
    """JSON without what names lines of the source, the place of the file or the compiler's version."""
    if isinstance(value, dict):
        return {key: without_positions(inner) for key, inner in value.items() if key not in ("source_info", "program", "__meta__")}
    if isinstance(value, list):
        return [without_positions(inner) for inner in value]
    return value


def compile_to(program: str, build: str, out: pathlib.Path, info: pathlib.Path | None = None) -> None:
    """Runs p4c, whose JSON has the lines of the source."""
    source, flags = folder_and_flags(program)
    command = [COMPILER, "--Wdisable=unused", "--std", "p4-16", *flags, *BUILDS[build], "-o", str(out), str(source / PROGRAMS[program])]
    if info:
        command += ["--p4runtime-files", str(info)]
    subprocess.run(command, check=True)


def compile_program(program: str, build: str, info: pathlib.Path | None = None) -> str:
    """The JSON of a program, in one line, as p4c makes it now; with `info` its P4Info is written there."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.json")
        compile_to(program, build, out, info)
        return json.dumps(without_positions(json.loads(out.read_text())), separators=(",", ":")) + "\n"


def compiler() -> str | None:
    """Where p4c is, if it is installed."""
    return shutil.which(COMPILER)


def compile_folder(folder: pathlib.Path) -> dict[str, str]:
    """All files that p4c makes now of the programs in a folder, by their names."""
    made = {}
    for program in PROGRAMS:
        if folder_and_flags(program)[0] == folder:
            for build in BUILDS:
                with tempfile.TemporaryDirectory() as place:
                    info = pathlib.Path(place, "info.txtpb")
                    made[f"{program}{build}.json"] = compile_program(program, build, info)
                    if not build:
                        made[f"{program}.p4info.txtpb"] = info.read_text()
    return made


def write_archive(folder: pathlib.Path, made: dict[str, str]) -> None:
    """The archive of a folder: the same bytes for the same files."""
    with (
        lzma.open(folder / ARCHIVE, "wb", preset=9 | lzma.PRESET_EXTREME) as out,
        tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, text in sorted(made.items()):
            file = tarfile.TarInfo(name)
            file.size = len(text.encode())
            archive.addfile(file, io.BytesIO(text.encode()))


def main() -> None:
    """Writes the programs that the command line names, or all, with the others of their folders."""
    for folder in sorted({folder_and_flags(program)[0] for program in sys.argv[1:] or PROGRAMS}):
        write_archive(folder, compile_folder(folder))
        print((folder / ARCHIVE).relative_to(P4), (folder / ARCHIVE).stat().st_size)


if __name__ == "__main__":
    main()
