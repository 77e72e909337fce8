"""Create the keys of a cluster that uses TLS, and a Dask configuration for them.

    python keys.py DIRECTORY

writes a certificate authority (``ca.pem``), a certificate and key for each role (``scheduler.pem``,
``worker.pem``, ``client.pem``) and ``dask.yaml``. Anyone who has a certificate of this authority can use the
cluster and run code on it, so keep the directory private. The scheduler and the workers refuse everyone else.
"""

from __future__ import annotations

import datetime as dt
import os
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ROLES = ("scheduler", "worker", "client")
DAYS = 90
SILENCE = "30s"  # a worker that is silent for this long is dropped, and others take over its work


def make_keys(directory: Path) -> Path:
    """Write the keys and the configuration, unless they exist; return the configuration file."""
    config = directory / "dask.yaml"
    if config.exists():
        return config
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _certificate(
        "separatrix cluster", authority_key, "separatrix cluster", authority_key, ca=True
    )
    _write(directory / "ca.pem", authority.public_bytes(serialization.Encoding.PEM))
    for role in ROLES:
        key = ec.generate_private_key(ec.SECP256R1())
        own = _certificate(role, key, "separatrix cluster", authority_key, ca=False)
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        _write(directory / f"{role}.pem", own.public_bytes(serialization.Encoding.PEM) + secret)
    _write(config, configuration(directory.resolve()).encode())
    return config


def configuration(directory: Path) -> str:
    """Return the Dask configuration: the keys, encryption only, and when a worker counts as dead."""
    roles = "".join(
        f"      {role}:\n        cert: {directory / role}.pem\n        key: {directory / role}.pem\n"
        for role in ROLES
    )
    return (
        f"distributed:\n  scheduler:\n    worker-ttl: {SILENCE}\n"
        "  comm:\n    default-scheme: tls\n    require-encryption: true\n"
        f"    tls:\n      ca-file: {directory / 'ca.pem'}\n{roles}"
    )


def _certificate(name: str, key, issuer: str, issuer_key, *, ca: bool) -> x509.Certificate:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(days=DAYS))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .sign(issuer_key, hashes.SHA256())
    )


def _write(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(make_keys(Path(sys.argv[1])))
