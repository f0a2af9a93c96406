"""The secret key of the server, and everything that is signed with it."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Any

from itsdangerous import BadData as BadSignature
from itsdangerous import SignatureExpired, URLSafeTimedSerializer

from adjudge.errors import BadSetting

_BYTES = 32


class Forged(Exception):
    """What was signed is not ours, or was changed on the way."""


class Expired(Forged):
    """What was signed is ours, but its time is over."""


def load_secret(path: Path) -> bytes:
    """The secret key in a file; made, for the owner's eyes only, where there is none yet.

    Two processes that start at once get one key: the file appears whole, under its name, once.
    """
    if not path.exists():
        _make(path)
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as fault:
        raise BadSetting("secret file", str(path), f"a file that can be read ({fault})") from None
    if len(text) < 2 * _BYTES:
        raise BadSetting("secret file", str(path), f"at least {2 * _BYTES} characters of secret")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise BadSetting(
            "secret file", str(path), "a file that nobody else can read (chmod 600 it)"
        )
    return text.encode("ascii")


def _make(path: Path) -> None:
    draft = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="ascii") as out:
            out.write(secrets.token_hex(_BYTES) + "\n")
        try:
            os.link(draft, path)  # fails where another process was faster: its key stands
        except FileExistsError:
            pass
        finally:
            os.unlink(draft)
    except OSError as fault:
        raise BadSetting("secret file", str(path), f"a place to write ({fault.strerror})") from None


class Keys:
    """Signs what leaves the server and comes back: sessions, join links, forms."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._signers: dict[str, URLSafeTimedSerializer] = {}

    def _signer(self, purpose: str) -> URLSafeTimedSerializer:
        if purpose not in self._signers:
            self._signers[purpose] = URLSafeTimedSerializer(
                self._secret,
                salt=f"adjudge.{purpose}",
                signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
            )
        return self._signers[purpose]

    def sign(self, purpose: str, value: Any) -> str:
        """A value as text that only this server can have made, for one purpose."""
        return str(self._signer(purpose).dumps(value))

    def open(self, purpose: str, text: str, seconds: float | None = None) -> Any:
        """The value that was signed for a purpose, not longer ago than so many seconds."""
        age = None if seconds is None else int(seconds)
        try:
            return self._signer(purpose).loads(text, max_age=age)
        except SignatureExpired:
            raise Expired(purpose) from None
        except BadSignature:
            raise Forged(purpose) from None

    def digest(self, purpose: str, text: str) -> str:
        """A short proof that this server saw a text."""
        message = f"{purpose}\0{text}".encode()
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()[:40]

    def proves(self, purpose: str, text: str, proof: str) -> bool:
        """Whether a proof is the one of this text; takes as long for a wrong one."""
        return hmac.compare_digest(self.digest(purpose, text).encode(), proof.encode())
