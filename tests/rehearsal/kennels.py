# mypy: disable-error-code="empty-body"
"""Writes whose trials must suppose something in particular: what was there before, flags, free values, other items."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import computed_field

from keyplan import (
    Create,
    Delete,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Put,
    Table,
    Unique,
    Update,
    Version,
    Writes,
    read,
    write,
)
from keyplan.errors import Refused

Short = Annotated[str, Field(max_length=1)]
BY_NAME = Index("by-name", "npk", "nsk", projection=["size", "tame"])
BY_SIZE = Index("by-size", "spk", "ssk")


class Dog(Entity):
    dog_id: str
    name: str = "Rex"
    size: Annotated[int, Field(ge=1, le=9)] = 4
    fed: int = 0
    tame: bool = True
    mood: Literal["glad", "sad", "mad"] = "glad"
    tag: str | None = None
    chip: str | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def large(self) -> bool:
        return self.size > 6

    primary = Key("DOG#{dog_id}", "HEAD")
    by_name = Key("NAME#{name}", "{dog_id}", index=BY_NAME)
    by_tag = Unique("TAG#{tag}")
    by_chip = Unique("CHIP#{chip}")


class Bone(Entity):
    dog_id: str
    bone_id: str
    sort_of: Literal["beef", "ham"] = "beef"
    found: date = date(2026, 3, 4)
    version: Version = 0

    primary = Key("DOG#{dog_id}", "BONE#{bone_id}")
    by_sort = Key("SORT#{sort_of}", "{bone_id}", index=BY_SIZE)


class Kennels(Design):
    table = Table("kennels", indexes=[BY_NAME, BY_SIZE])

    @read("K1")
    def dog(self, dog_id: str) -> Dog | None: ...

    @read("K2")
    def bones(self, dog_id: str, *, limit: int = 3) -> list[Bone]: ...

    @read("K3", complete=True)
    def named(self, name: str) -> list[Dog]: ...

    @read("K4", consistent=True)
    def tagged(self, tag: str) -> Dog | None: ...

    @read("K5")
    def bone(self, dog_id: str, bone_id: str) -> Bone | None: ...

    @write("K10")
    def by_what_was_there(self, dog_id: str) -> Writes:
        before = yield from Update(Dog, dog_id=dog_id).set(mood="mad").previous()
        if before is None or before.mood == "mad":
            raise Refused("mad already")

    @write("K11")
    def by_what_is_there(self, dog_id: str) -> Writes:
        after = yield from Update(Dog, dog_id=dog_id).set(mood="mad")
        if after.mood != "mad":
            raise Refused("not mad")

    @write("K12")
    def by_what_was_put_there(self, bone: Bone) -> Writes:
        before = yield from Put(bone).previous()
        if before is not None and before.sort_of == "ham":
            raise Refused("ham")

    @write("K13")
    def of_two(self, dog: Dog, other: Dog, dog_id: str, name: str) -> Writes:
        if dog.dog_id == other.dog_id:
            raise Refused("one and the same")
        yield Update(dog, name=name)
        yield Update(other, name=dog.name)

    @write("K14")
    def of_many(self, dogs: list[Dog], bones: tuple[Bone, ...], sizes: list[int], words: dict[str, str]) -> Writes:
        for dog in dogs:
            yield Update(dog, size=sizes[0])
        for bone in bones:
            yield Delete(bone)

    @write("K15")
    def wild(self, dog_id: str) -> Writes:
        dog = yield from self.dog.read(dog_id)
        if dog is None or dog.tame:
            return
        yield Update(dog, fed=dog.fed + 1)

    @write("K16")
    def fed(self, dog_id: str, fed: int, size: int) -> Writes:
        """What no key or index holds alone."""
        dog = yield from self.dog.read(dog_id)
        if dog is None:
            raise Refused("no dog")
        yield Update(dog, fed=fed, size=size, tame=True)

    @write("K17")
    def shrunk(self, dog: Dog) -> Writes:
        yield Update(dog, size=dog.size, fed=0)

    @write("K18")
    def renamed(self, dog_id: str) -> Writes:
        dog = yield from self.dog.read(dog_id)
        if dog is not None:
            yield Update(dog, name="Rex", size=4)

    @write("K19")
    def chipped(self, dog: Dog, chip: str) -> Writes:
        yield Update(dog, chip=chip, tag=None)

    @write("K20")
    def new_one(self, dog: Dog) -> Writes:
        yield Create(dog)

    @write("K21")
    def same_tag(self, dog_id: str, tag: str) -> Writes:
        """What another dog has can't be given to this one."""
        other = yield from self.tagged.read(tag)
        dog = yield from self.dog.read(dog_id)
        if other is None or dog is None:
            raise Refused("nobody has it")
        yield Update(dog, tag=tag)

    @write("K22")
    def another_chip(self, dog: Dog, chip: str) -> Writes:
        yield Update(dog, chip=chip)

    @write("K23")
    def gone(self, dog: Dog, bone: Bone) -> Writes:
        yield Delete(dog)
        yield Delete(Bone, dog_id=bone.dog_id, bone_id=bone.bone_id)

    @write("K24")
    def all_bones(self, dog_id: str, sort_of: Literal["beef", "ham"]) -> Writes:
        bones = yield from self.bones.read(dog_id)
        if len(bones) < 2:
            raise Refused("too few")
        for bone in bones:
            yield Update(bone, sort_of=sort_of)

    @write("K25")
    def twice_there(self, dog_id: str, bone_id: str) -> Writes:
        first = yield from self.bone.read(dog_id, bone_id)
        second = yield from self.bone.read(dog_id, bone_id)
        if first is None or second is None or first.version != second.version:
            raise Refused("it has changed")
        yield Update(first, found=date(2026, 5, 6)).only_if(version=second.version)

    @write("K27")
    def just_enough(self, dog_id: str) -> Writes:
        for number in range(100):
            yield Delete(Bone, dog_id=dog_id, bone_id=str(number))

    @write("K28")
    def made_or_met(self, dog_id: str) -> Writes:
        yield Update(Dog, dog_id=dog_id).set(size=3).or_create()

    @write("K30")
    def short_words(self, dog_id: str, first: Short, second: Short, third: Short) -> Writes:
        if len({first, second, third}) < 3:
            raise Refused("two alike")
        yield Update(Dog, dog_id=dog_id).set(fed=len(first))

    @write("K29")
    def leaves(self, dog_id: str) -> Writes:
        yield Put(Bone(dog_id=dog_id, bone_id="x"))
        raise SystemExit
