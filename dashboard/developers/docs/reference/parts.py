"""What the reference is made of, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.developers.docs.reference.samples import Sample


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a value may be.

    `words` name it ("integer, cents"), `rules` bound it ("at most 100"), `choices` are all values
    that there are. `members` are those of the object, or of each object in the list. `options` are
    the objects of which the value is one, each with its members; the value has none beside them.
    """

    words: str
    description: str = ""
    rules: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()
    options: tuple[Kind, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Member:
    """A field of an object, or a parameter of a request."""

    name: str
    kind: Kind
    is_required: bool


@dataclass(frozen=True, kw_only=True)
class Parameter(Member):
    """`place` is path, query or header. `placeholder` stands for an id in the path. `is_list`: it
    may be given several times."""

    place: str
    placeholder: str = ""
    is_list: bool = False


@dataclass(frozen=True, kw_only=True)
class Example:
    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Thing:
    """An object that operations answer with: "Payment", described once in the whole reference."""

    name: str
    title: str
    kind: Kind
    address: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A successful one. `thing` is in `data`, alone or as rows of a page; None: a CSV file."""

    status: str
    thing: Thing | None
    is_page: bool
    headers: tuple[str, ...]
    example: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    status: str
    code: str
    title: str


@dataclass(frozen=True, kw_only=True)
class Operation:
    """`refusals` are those that not every operation has; `one_of` are fields of the body of which
    a request has exactly one."""

    id: str
    method: str
    path: str
    title: str
    description: str
    scope: str
    is_deprecated: bool
    parameters: tuple[Parameter, ...]
    body: Kind | None
    one_of: tuple[str, ...]
    body_examples: tuple[Example, ...]
    answer: Answer
    refusals: tuple[Refusal, ...]
    samples: tuple[Sample, ...]

    @property
    def is_write(self) -> bool:
        return self.method != "GET"


@dataclass(frozen=True, kw_only=True)
class Notice:
    """An event that we post to an endpoint."""

    name: str
    title: str
    kind: Kind
    examples: tuple[Example, ...]


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A page of the reference."""

    slug: str
    title: str
    lead: str
    operations: tuple[Operation, ...] = ()
    things: tuple[Thing, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reference:
    """`headers` are those of answers, by name; `refusals` those that every operation has."""

    resources: tuple[Resource, ...]
    headers: tuple[tuple[str, str], ...]
    refusals: tuple[Refusal, ...]

    def find(self, slug: str) -> Resource | None:
        return next((page for page in self.resources if page.slug == slug), None)
