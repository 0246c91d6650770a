"""No record of the package shows a secret in its text: wherever one is logged, told or shown in a traceback.

Secrets are keys, what keys are made of, and numbers that a peer must not guess. A new field whose name sounds like one
belongs either to the fields without a text, or below, with the reason why it is none.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import random
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pydantic
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

import wayname
import wayname_lab
from wayname.composition.configuration import parse_config
from wayname.config.tables import Table
from wayname.hip.esp.keys import Keys
from wayname.hip.groups import Group, make_pair
from wayname.hip.identities import identity_of
from wayname.ilnp.config import SECTION
from wayname.wire.mac import Mac
from wayname.wire.shim6.messages import I1

# Pieces of names, between underscores.
SOUNDS_SECRET = re.compile(
    r"(^|_)(key|keys|secret|secrets|keymat|nonce|tag|validator|private|password|token|salt|shared|material|encryption|"
    r"integrity|root)($|_)"
)
# What can hold one.
CAN_HOLD = re.compile(r"bytes|\bint\b|\bstr\b|Private|Keys|KeyPair|Keymat|Any|Json|Callable|_Material|_T")
# Those that hold secrets under other names.
OTHERS = {
    ("wayname.config.model.Config", "written"),  # keys of policies, as the file has them
    ("wayname.edge.boundary.Persist", "value"),  # context tags and nonces of sessions
    ("wayname.hip.keymat._Material", "octets"),
}
PUBLIC = {
    ("wayname.config.encapsulation.model.SrPolicy", "key_id"): "stands in each packet",
    ("wayname.config.encapsulation.paths.PolicyTable", "key_id"): "stands in each packet",
    ("wayname.config.sections.Section", "key"): "the name of a table",
    ("wayname.config.sections.ProtocolSection", "key"): "the name of a table",
    ("wayname.api.traces.TableLookup", "key"): "what a table was asked for; secrets among it are hidden",
    ("wayname.config.sections.ProtocolSection", "has_secrets"): "whether there are some",
    ("wayname.config.sections.ProtocolSection", "key_files"): "which files there are",
    ("wayname.config.names.Names", "key_name"): "stands in each message to the server",
    ("wayname.config.names.NetworkNames", "key_name"): "stands in each message to the server",
    ("wayname.ilnp.config.Ilnp", "nonce_octets"): "a length",
    ("wayname.ilnp.settings.Settings", "nonce_octets"): "a length",
    ("wayname.api.ilnp.IlnpSessionAnswer", "nonce_octets"): "a length",
    ("wayname.api.ilnp.AdmissionAnswer", "nonce_octets"): "a length",
    ("wayname.api.ilnp.AdmissionAnswer", "nonce_use"): "a word",
    ("wayname.edge.boundary.Persist", "key"): "the name of something",
    **{
        (f"wayname.fleet.etcd.{name}", "key"): "where something stands in etcd"
        for name in ("KeyValue", "Put", "Delete", "Get", "CreatedAt", "ChangedAt", "UnderLease", "Change")
    },
    ("wayname.fleet.overview.EdgeState", "keys"): "names of keys, which say nothing of them",
    ("wayname.fleet.overview.Waiting", "keys"): "names of keys, which say nothing of them",
    ("wayname_lab.fleet.etcd_members._Watcher", "key"): "where something stands in etcd",
    ("wayname_lab.fleet.etcd_store.Changed", "key"): "where something stands in etcd",
    ("wayname.cli.fleet.Fleet", "keys"): "where things stand in etcd",
    ("wayname.hip.esp.suites.Suite", "encryption_key"): "a length",
    ("wayname.hip.esp.suites.Suite", "salt"): "a length",
    ("wayname.hip.esp.suites.Suite", "integrity_key"): "a length",
    ("wayname.hip.association.Secured", "salt"): "I and J of the puzzle, which stand in the exchange",
    ("wayname.hip.parameters.HostId", "key"): "the public key",
    ("wayname.hip.transports.EspInfo", "keymat_index"): "a place in the key material",
    ("wayname.identity.parameters.Parameters", "public_key"): "the public key",
    ("wayname.shim6.host_record.HostRecord", "public_key"): "the public key",
    ("wayname.hip.edwards.Curve", "key"): "a class",
    ("wayname_lab.model.LabIlnp", "nonce"): "long or short",
    ("wayname_lab.model.LabIlnp", "nonce_use"): "a word",
}
SECRET = "5ec2e7"


def modules() -> Iterator[Any]:
    for package in (wayname, wayname_lab):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def classes() -> Iterator[type[Any]]:
    for module in modules():
        for each in vars(module).values():
            if isinstance(each, type) and each.__module__ == module.__name__:
                yield each


def name_of(record: type[Any]) -> str:
    return f"{record.__module__}.{record.__qualname__}"


def fields_of(record: type[Any]) -> dict[str, str]:
    """The names of a record's fields, and what they may hold."""
    if issubclass(record, Table):
        return {name: str(known.annotation) for name, known in record.model_fields.items()}
    return {each.name: str(each.type) for each in dataclasses.fields(record)}


def secret_fields(record: type[Any]) -> list[str]:
    """The fields of a record that hold secrets, by what they are called and what they may hold."""
    where, found = name_of(record), []
    for name, kind in fields_of(record).items():
        sounds = SOUNDS_SECRET.search(name) and CAN_HOLD.search(kind)
        if (sounds and (where, name) not in PUBLIC) or (where, name) in OTHERS:
            found.append(name)
    return found


class Seen:
    """A value that is seen in a text."""

    def __repr__(self) -> str:
        return SECRET


RECORDS = [each for each in classes() if dataclasses.is_dataclass(each) or issubclass(each, Table)]


@pytest.mark.parametrize("record", [each for each in RECORDS if secret_fields(each)], ids=name_of)
def test_a_record_does_not_show_its_secrets(record: type[Any]) -> None:
    hidden = secret_fields(record)
    made: Any
    values: dict[str, Any] = {name: Seen() if name in hidden else None for name in fields_of(record)}
    if issubclass(record, Table):
        made = record.model_construct(**values)
    else:
        made = object.__new__(record)
        for name, value in values.items():
            object.__setattr__(made, name, value)
    assert SECRET not in repr(made)
    assert SECRET not in str(made)


def test_what_is_said_of_fields_is_about_fields_that_there_are() -> None:
    there = {(name_of(record), name) for record in RECORDS for name in fields_of(record)}
    answers = [each for each in classes() if issubclass(each, pydantic.BaseModel)]
    there |= {(name_of(answer), name) for answer in answers for name in answer.model_fields}
    assert there >= OTHERS | PUBLIC.keys()
    assert len(RECORDS) > 250


def test_no_answer_of_the_api_has_a_field_for_a_secret() -> None:
    for answer in classes():
        if issubclass(answer, pydantic.BaseModel) and not issubclass(answer, Table):
            for name, known in answer.model_fields.items():
                is_secret = SOUNDS_SECRET.search(name) and CAN_HOLD.search(str(known.annotation))
                assert not is_secret or (name_of(answer), name) in PUBLIC, (answer, name)


def test_no_tuple_has_a_secret_and_no_other_class_a_text_of_its_own() -> None:
    """A tuple with names shows all that is in it; whoever is no record has Python's text, which shows nothing."""
    for each in classes():
        if issubclass(each, tuple):
            kinds = each.__annotations__
            assert not [name for name in kinds if SOUNDS_SECRET.search(name) and CAN_HOLD.search(str(kinds[name]))], (
                each
            )
        elif not dataclasses.is_dataclass(each) and not issubclass(each, pydantic.BaseModel | Enum | Mac):
            assert "__repr__" not in vars(each)
            assert "__str__" not in vars(each) or issubclass(each, Exception)


def test_real_records() -> None:
    key = ec.generate_private_key(ec.SECP384R1())
    identity = identity_of(key)
    number = key.private_numbers().private_value
    assert str(number) not in repr(identity)
    pair = make_pair(Group.P256, random.Random(1))
    assert str(pair.secret) not in repr(pair)
    assert "0123456" not in repr(Keys(b"0123456", b"0123456"))
    assert "123456789" not in repr(I1(123456789, 123456789, ()))
    names = SECTION.of(parse_config(NAMES))
    assert names is not None
    assert names.names is not None
    assert names.names.key == b"secret of names"
    assert "secret" not in repr(parse_config(NAMES))


NAMES = """
[[port]]
number = 1
vlan = 10
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
[[policy]]
name = "p"
segments = ["2001:db8:9::1"]
key_id = 1
key = "secret of policies"
[ilnp]
[[ilnp.site]]
prefixes = ["2001:db8:1::/64"]
[ilnp.names]
server = "::1"
zone = "lab.test"
key_name = "key"
key = "c2VjcmV0IG9mIG5hbWVz"
"""
