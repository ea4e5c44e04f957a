"""What staff may not do with a file, in words for them."""

from __future__ import annotations

from common.errors import StaffRefusal


class FileNotThere(StaffRefusal):
    code = "ach_file_not_there"
    title = "There is no such file"
    advice = "Look it up in the list of files."


class FileInAnotherStatus(StaffRefusal):
    code = "ach_file_in_another_status"
    title = "The file is in another status now"
    advice = "Look at it again: somebody else, or a cut-off, got there first."


class FileIsGoing(StaffRefusal):
    code = "ach_file_is_going"
    title = "The file is being sent"
    advice = "It may have reached the bank. Ask the bank, or wait for its acknowledgment."


class BuilderMayNotRelease(StaffRefusal):
    code = "ach_builder_may_not_release"
    title = "Whoever built a file does not release it"
    advice = "Ask a colleague who may release files."


class ReleasedByOne(StaffRefusal):
    code = "ach_released_by_one"
    title = "A file is released by two people"
    advice = "Ask a colleague who may release files."


class OtherTotal(StaffRefusal):
    code = "ach_other_total"
    title = "That is not the total of the file"
    advice = "Compare the file with what you expect, and type the total that you release."


class FileHasFaults(StaffRefusal):
    code = "ach_file_has_faults"
    title = "The file has faults"
    advice = "Build it again, or take it apart."


class EntryNotInFile(StaffRefusal):
    code = "ach_entry_not_in_file"
    title = "The entry is in no file that could be taken apart"
    advice = "Look at the entry: it waits, was sent, or came to its end."
