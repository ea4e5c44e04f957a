"""What can go wrong between us and a bank's SFTP server.

SftpError
├── SettingsRefused     a setting of the connection cannot be used
├── KeyRefused          a key is weak, of another kind, or no key
├── NotConnected, KeyUnreadable                                 there is nothing to sign in with
├── Unreachable, TimedOut, ConnectionLost, AnswerLost        the line; these pass
├── HostKeyWrong, SignInRefused, NoCommonMethod, NoSftp, BadAnswer       the other side
├── NoSuchFolder, NoSuchFile, NotAllowed, NoSpace, NameTaken, Refused    its folders
├── FolderTooFull, FileTooLarge, FileChanged, BadName        what lies there
├── TooSlow                                                  the line, for what is to be moved
└── SourceDiffers, ReadBackDiffers, TemporaryGone, DeliveryUnknown   a file that we deliver

No text of a server is in any of them: it may hold anything.
"""

from __future__ import annotations

from typing import ClassVar


class SftpError(Exception):
    """A failure with a stable `code`, and `advice`: a sentence for staff that says what to do."""

    code: ClassVar[str]
    advice: ClassVar[str]
    # Whether trying again later is the answer; anything else waits for a person.
    is_passing: ClassVar[bool] = False

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail or self.code)
        self.detail = detail


class SettingsRefused(SftpError):
    """`field` names the setting; `detail` says what is wrong with it."""

    code = "settings_refused"
    advice = "Correct this setting of the connection."

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field = field


class KeyRefused(SftpError):
    """`reason` is one of `not_a_key`, `several_keys`, `private_key_given`, `has_passphrase`,
    `kind_not_allowed`, `too_short`, `too_long`; `detail` says it in a sentence."""

    code = "key_refused"
    advice = "Use an ed25519 key, or an RSA key of at least 3072 bits."

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class NotConnected(SftpError):
    """The terms name no host, or there is no key to sign in with."""

    code = "not_connected"
    advice = (
        "The terms name no host, or we have no key to sign in with. Enter the bank's server in the"
        " terms of the rail, and make a key of ours (ach_key)."
    )


class KeyUnreadable(SftpError):
    """Our private key does not open with the keys that this process has."""

    code = "key_unreadable"
    advice = (
        "Our key at this bank cannot be opened: this process lacks the key that sealed it. Restore"
        " that key to the settings, or make a new pair and have the bank enter it."
    )


class Unreachable(SftpError):
    code = "unreachable"
    advice = (
        "Nobody answers at this host and port. It is tried again by itself. If it lasts, ask the"
        " bank whether its server is up and whether it lets our address in."
    )
    is_passing = True


class TimedOut(SftpError):
    code = "timed_out"
    advice = (
        "The bank's server did not answer in time. It is tried again by itself. If it lasts, ask"
        " the bank whether its server is busy."
    )
    is_passing = True


class ConnectionLost(SftpError):
    code = "connection_lost"
    advice = (
        "The line to the bank broke. It is tried again by itself. If it lasts, ask the bank"
        " whether it ends our connections, and why."
    )
    is_passing = True


class AnswerLost(SftpError):
    """The line broke, or time ran out, after the final rename was asked for."""

    code = "answer_lost"
    advice = (
        "The line to the bank broke while the file got its final name. The next attempt looks"
        " whether the bank has it, before anything is sent again."
    )
    is_passing = True


class TooSlow(SftpError):
    """The bytes moved all the time, and not fast enough."""

    code = "too_slow"
    advice = (
        "The line is too slow for a file of this size. Ask the bank how fast its server is. Lower"
        " the entries of a file in the terms of the rail, then take the file apart."
    )


class HostKeyWrong(SftpError):
    code = "host_key_wrong"
    advice = (
        "The server shows a host key that is in neither slot. Send nothing. Call the bank by a"
        " number that you know: if it changed its key, compare the fingerprint by voice, then two"
        " people enter the key."
    )


class SignInRefused(SftpError):
    code = "sign_in_refused"
    advice = (
        "The bank's server does not let us in. Check the user name, and ask the bank whether it"
        " has entered our public key; compare its fingerprint."
    )


class NoCommonMethod(SftpError):
    code = "no_common_method"
    advice = (
        "The server and we share no safe method of encryption, or it has no host key of the kind"
        " that is in the slots. Ask the bank which host keys and algorithms its server offers."
    )


class NoSftp(SftpError):
    code = "no_sftp"
    advice = "The server let us in but offers no SFTP. Ask the bank to enable it for our user."


class BadAnswer(SftpError):
    code = "bad_answer"
    advice = (
        "The server answered with something that is not SFTP, or not what was asked for. Ask the"
        " bank whether something in between changes the traffic."
    )


class NoSuchFolder(SftpError):
    code = "no_such_folder"
    advice = "The server has no such folder. Compare the folders in the settings with the bank's."


class NoSuchFile(SftpError):
    code = "no_such_file"
    advice = "The file is not there any more. Look whether it was read before, or ask the bank."


class NotAllowed(SftpError):
    code = "not_allowed"
    advice = (
        "The server does not let our user do this. In the folder for our files we must write, read"
        " back, rename and delete; in the others read and delete. Ask the bank for these rights."
    )


class NoSpace(SftpError):
    code = "no_space"
    advice = (
        "The bank's disk or our share of it is full. Call the bank; it is tried again by itself."
    )
    is_passing = True


class NameTaken(SftpError):
    code = "name_taken"
    advice = (
        "Another file of this name, with other content, lies at the bank. Nothing was sent. Ask"
        " the bank what it is before the file is sent under any name."
    )


class Refused(SftpError):
    code = "refused"
    advice = (
        "The server refused without a reason that we know. Ask the bank what its log says about"
        " this file."
    )


class FolderTooFull(SftpError):
    code = "folder_too_full"
    advice = (
        "The folder lists more names than we read. Ask the bank to clear it, or to archive files"
        " that were taken."
    )


class FileTooLarge(SftpError):
    code = "file_too_large"
    advice = "The file is larger than we read. Ask the bank what it is."


class FileChanged(SftpError):
    code = "file_changed"
    advice = (
        "The file changed while it was read, or is not as long as the server says. It is read"
        " again by itself. If it lasts, ask the bank to write files under another name first."
    )
    is_passing = True


class BadName(SftpError):
    code = "bad_name"
    advice = "A file of this name is not touched. Ask the bank to use letters, digits, . - and _."


class SourceDiffers(SftpError):
    code = "source_differs"
    advice = (
        "Our stored copy of the file is not what was built. Nothing was sent. Stop sending and"
        " call an engineer."
    )


class ReadBackDiffers(SftpError):
    """What was read back from under the temporary name is not what was written."""

    code = "read_back_differs"
    advice = (
        "The bank's server holds other bytes than we wrote. Nothing was sent; it is tried again by"
        " itself. If it lasts, ask the bank whether its server changes files, line ends for"
        " example."
    )
    is_passing = True


class TemporaryGone(SftpError):
    code = "temporary_gone"
    advice = (
        "The file vanished from under its temporary name before it was complete. Ask the bank"
        " whether it took it, and which names its server leaves alone; send nothing until then."
    )


class DeliveryUnknown(SftpError):
    code = "delivery_unknown"
    advice = (
        "The file may have reached the bank: an earlier attempt got as far as its final name, and"
        " now it lies neither there nor in the archive. Ask the bank whether it has the file. If"
        " so, mark it as sent; only if not, send it again."
    )
