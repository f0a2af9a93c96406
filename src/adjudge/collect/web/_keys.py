"""Everything that is signed with the secret key of the server."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from itsdangerous import BadData as BadSignature
from itsdangerous import URLSafeTimedSerializer


class Forged(Exception):
    """What was signed is not ours, was changed on the way, or its time is over."""


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
        except BadSignature:
            raise Forged(purpose) from None

    def digest(self, purpose: str, text: str) -> str:
        """A short proof that this server saw a text."""
        message = f"{purpose}\0{text}".encode()
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()[:40]

    def proves(self, purpose: str, text: str, proof: str) -> bool:
        """Whether a proof is the one of this text; takes as long for a wrong one."""
        return hmac.compare_digest(self.digest(purpose, text).encode(), proof.encode())
