"""Errors of MySQL and MariaDB: which are transient, and messages that name the remedy."""

from __future__ import annotations

from asyncmy import errors

from holdfast.errors import SchemaMismatch, StoreError, StoreMisconfigured, StoreUnavailable
from holdfast.persistence.sql.mysql.address import MysqlAddress

MysqlError = errors.MySQLError

DUPLICATE = 1062
DEADLOCK = 1213
LOCK_TIMEOUT = 1205
NO_SUCH_TABLE = 1146
NO_REPLY = 2013
EXISTS_ALREADY = frozenset({1050, 1060, 1061, 1091})
"""A table, column or index exists already, or was dropped already: this migration step was done before."""

LOST = frozenset({
    0,  # the driver knows that it is disconnected
    1047,  # a node of a Galera cluster that is not ready
    1053,  # the server shuts down
    1152, 1158, 1159, 1160, 1161, 1184,  # the connection was aborted
    1927, 3169,  # the connection or session was killed
    2002, 2003, 2006, 2013, 2055,  # cannot connect, gone away, lost
    4031,  # the server closed a connection that was idle
})  # fmt: skip
"""The connection is lost."""

_FULL = frozenset({1040, 1203, 1226})
_READ_ONLY = frozenset({1290, 1836})
_TRANSIENT = LOST | _FULL | _READ_ONLY | {LOCK_TIMEOUT, 1206, DEADLOCK}
"""Deadlock, lock wait timeout, too many connections, a server that is read-only during a failover."""

_REFUSED_USER = frozenset({1045, 1251, 1698, 1820, 1862, 2059, 3118, 4151})
_NO_RIGHT = frozenset({1044, 1142, 1143, 1227, 1370})
_NO_ROOM = frozenset({1021, 1114, 1041})
_TOO_LONG = frozenset({1406, 1264, 1366})


def code_of(error: BaseException) -> int | None:
    """The server's error code; None for a reply that the driver could not parse."""
    number = error.args[0] if error.args else None
    return number if isinstance(number, int) else None


def is_lost(error: BaseException) -> bool:
    """Whether the connection can no longer be used."""
    if isinstance(error, MysqlError):
        return code_of(error) in LOST or code_of(error) is None
    return isinstance(error, OSError | EOFError)


class MysqlTransient:
    """Transient errors of the driver."""

    def is_transient(self, error: BaseException) -> bool:
        return isinstance(error, MysqlError) and (code_of(error) in _TRANSIENT or code_of(error) is None)


def row_too_large(size: int, limit: int) -> StoreError:
    """The error for a row that does not fit into one packet. The server would disconnect without a reason."""
    return StoreError(
        f"A row of {size:,} bytes is larger than the server accepts ({limit:,}). Raise max_allowed_packet on the "
        "server, or keep large values outside the workflow and store a reference."
    )


def read_only(error: BaseException, address: MysqlAddress) -> str | None:
    """The message for a server that refuses writes; None for another error."""
    if not isinstance(error, MysqlError) or code_of(error) not in _READ_ONLY:
        return None
    return (
        f"The server at {address.place} is read-only ({_text(error)}); nothing was written. It is a replica, or read_only is "
        "on. Use the address of the primary, or switch it off: SET GLOBAL read_only = OFF"
    )


def explained(error: BaseException, address: MysqlAddress) -> StoreError:
    """A store error whose message names the remedy."""
    code, user, database = code_of(error), address.user, address.database
    if code in _REFUSED_USER:
        return StoreMisconfigured(
            f"The server at {address.place} refuses user '{user}' with this password. Check both in the store's address."
        )
    if code in _NO_RIGHT:
        return StoreMisconfigured(
            f"User '{user}' may not do this in database '{database}' ({_text(error)}). Give it the rights: "
            f"GRANT ALL ON `{database}`.* TO '{user}'"
        )
    match code:
        case 1049:
            return StoreMisconfigured(
                f"There is no database '{database}' at {address.place}. Create it: CREATE DATABASE `{database}`"
            )
        case 1130:
            return StoreMisconfigured(
                f"The server at {address.place} refuses connections from this machine. Create the user for this host."
            )
        case 1146 | 1054:
            return SchemaMismatch(
                f"Database '{database}' lacks a table or column ({_text(error)}). Run: holdfast migrate"
            )
        case 2002 | 2003:
            return StoreUnavailable(
                f"No server answers at {address.place}. Check host and port in the store's address, and that the server runs."
            )
    if code in _NO_ROOM:
        return StoreUnavailable(f"The server has no space left ({_text(error)}). Free some space; nothing was written.")
    if code in _TOO_LONG:
        return StoreError(f"A value does not fit its column ({_text(error)}). Shorten it; nothing was written.")
    if text := read_only(error, address):
        return StoreUnavailable(text)
    if isinstance(error, MysqlError) and code in _TRANSIENT:
        return StoreUnavailable(f"The server at {address.place} failed temporarily ({_text(error)}). Try again.")
    if code == DUPLICATE:
        return StoreError(f"A row with this key is stored already ({_text(error)}). Nothing was written.")
    return StoreError(
        f"The server at {address.place} refused a statement: {_text(error)}. This is a bug: please report it."
    )


def _text(error: BaseException) -> str:
    return str(error.args[-1]) if error.args else type(error).__name__
