"""An OCI image of staged programs and the libraries that they link to, as a tar archive (OCI image-spec v1.1, image layout).

The image has nothing else: no shell, no package manager. It is made without network and without a base image, and the same input
gives the same bytes. `podman load`, `docker load` (25 or later), `skopeo copy oci-archive:...` and containerd read it.
"""

import argparse
import gzip
import hashlib
import io
import json
import pathlib
import platform
import subprocess
import tarfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
MEDIA = "application/vnd.oci.image."


def libraries(program: pathlib.Path) -> set[str]:
    """Paths of the dynamic loader and of the libraries that a program links to."""
    lines = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout.splitlines()
    words = (line.split() for line in lines)
    return {word for line in words for word in line if word.startswith("/")}


class Archive:
    """A tar archive whose entries belong to root and have one time."""

    def __init__(self, time: int) -> None:
        self.bytes = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.bytes, mode="w", format=tarfile.PAX_FORMAT)
        self.time = time
        self.folders: set[str] = set()

    def folder(self, name: str) -> None:
        """The folder and those above it, once each."""
        for path in [*reversed(pathlib.PurePath(name).parents), pathlib.PurePath(name)]:
            if str(path) == "." or str(path) in self.folders:
                continue
            self.folders.add(str(path))
            entry = tarfile.TarInfo(str(path))
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, self.time
            self.tar.addfile(entry)

    def file(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """A file, with its folders."""
        self.folder(str(pathlib.PurePath(name).parent))
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = len(content), mode, self.time
        self.tar.addfile(entry, io.BytesIO(content))

    def close(self) -> bytes:
        """The archive's bytes."""
        self.tar.close()
        return self.bytes.getvalue()


def layer(root: pathlib.Path, names: list[str], time: int) -> bytes:
    """The image's file system."""
    archive = Archive(time)
    linked: set[str] = set()
    for name in names:
        path = root / name
        program = bool(path.stat().st_mode & 0o100)
        archive.file(name, path.read_bytes(), 0o755 if program else 0o644)
        linked |= libraries(path) if program else set()
    for library in sorted(linked):
        archive.file(library.lstrip("/"), pathlib.Path(library).resolve().read_bytes(), 0o755)
    for folder in ["run/heddle", "var/lib/heddle", "sys/fs/bpf", "tmp"]:
        archive.folder(folder)
    return archive.close()


def blob(archive: Archive, content: bytes, kind: str) -> dict[str, object]:
    """Stores a blob by its digest; its descriptor."""
    digest = hashlib.sha256(content).hexdigest()
    archive.file(f"blobs/sha256/{digest}", content)
    return {"mediaType": MEDIA + kind, "digest": f"sha256:{digest}", "size": len(content)}


def image(files: bytes, version: str, architecture: str, time: int) -> bytes:
    """The image layout as a tar archive."""
    archive = Archive(time)
    archive.file("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
    packed = blob(archive, gzip.compress(files, compresslevel=6, mtime=0), "layer.v1.tar+gzip")
    config = {
        "architecture": architecture,
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/sbin/heddled"],
            "Cmd": ["--config", "/etc/heddle/heddled.toml"],
            "Env": ["PATH=/usr/sbin:/usr/bin"],
            "Volumes": {"/etc/heddle": {}, "/run/heddle": {}, "/var/lib/heddle": {}, "/sys/fs/bpf": {}},
            "Labels": {"org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0"},
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(files).hexdigest()}"]},
    }
    described = blob(archive, json.dumps(config).encode(), "config.v1+json")
    manifest = {"schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json", "config": described, "layers": [packed]}
    entry = blob(archive, json.dumps(manifest).encode(), "manifest.v1+json")
    entry["annotations"] = {"org.opencontainers.image.ref.name": f"heddled:{version}"}
    entry["platform"] = {"architecture": architecture, "os": "linux"}
    index = {"schemaVersion": 2, "mediaType": MEDIA + "index.v1+json", "manifests": [entry]}
    archive.file("index.json", json.dumps(index).encode())
    return archive.close()


def main() -> None:
    """Reads the command line and writes the image."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="folder of the staged files")
    parser.add_argument("--version", required=True, help="the image's tag")
    parser.add_argument("--time", type=int, required=True, help="time of all files, in seconds since 1970")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the archive to write")
    parser.add_argument("names", nargs="+", help="files below the root")
    arguments = parser.parse_args()
    files = layer(arguments.root, arguments.names, arguments.time)
    architecture = ARCHITECTURES[platform.machine()]
    arguments.out.write_bytes(image(files, arguments.version, architecture, arguments.time))


if __name__ == "__main__":
    main()
