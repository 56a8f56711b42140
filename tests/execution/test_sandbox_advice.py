"""What ``doctor`` says of a machine on which a sandbox does not work."""

from __future__ import annotations

import dataclasses

import pytest

from execution.sandboxes import SANDBOXES
from execution.sandboxes.advice import Machine, diagnose, explain, machine

FINE = Machine(system="Linux", kernel=(6, 1), root=False, bubblewrap=True, max_user_namespaces=9000)


@pytest.mark.parametrize(
    ("here", "reason", "remedy"),
    [
        (dataclasses.replace(FINE, system="Darwin"), "Darwin", "virtual machine"),
        (
            dataclasses.replace(FINE, max_user_namespaces=0),
            "user.max_user_namespaces is 0",
            "sysctl -w user.max_user_namespaces=15000",
        ),
        (
            dataclasses.replace(FINE, unprivileged_clone=0),
            "unprivileged_userns_clone",
            "sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (
            dataclasses.replace(FINE, apparmor_restricts=1),
            "AppArmor",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (dataclasses.replace(FINE, container="Docker"), "container (Docker)", "--security-opt seccomp=unconfined"),
        (dataclasses.replace(FINE, seccomp=True), "seccomp filter", "without that filter"),
        (FINE, "Operation not permitted", "docs/security.md"),
    ],
)
@pytest.mark.parametrize("name", sorted(SANDBOXES))
def test_the_setting_and_the_line_that_changes_it(name: str, here: Machine, reason: str, remedy: str) -> None:
    said = explain(name, "unshare: Operation not permitted", here)
    assert reason in said[0]
    assert remedy in said[1]


def test_bubblewrap_that_is_not_installed_is_no_matter_of_settings() -> None:
    here = dataclasses.replace(FINE, bubblewrap=False, max_user_namespaces=0)
    assert explain("bubblewrap", "bwrap is not installed", here)[0] == "bwrap is not installed"
    assert "max_user_namespaces" in explain("unshare", "x", here)[0]


def test_an_old_kernel_is_named_for_the_backend_that_needs_a_newer_one() -> None:
    here = dataclasses.replace(FINE, kernel=(5, 10))
    assert explain("unshare", "x", here)[0] == "the kernel 5.10 is older than 5.12"
    assert explain("bubblewrap", "x", here)[0] == "x"
    assert "4.18" in explain("bubblewrap", "x", dataclasses.replace(FINE, kernel=(4, 18)))[0]


def test_debians_setting_does_not_bind_root() -> None:
    assert explain("unshare", "x", dataclasses.replace(FINE, root=True, unprivileged_clone=0))[0] == "x"


def test_this_machine_is_read_and_every_backend_is_diagnosed() -> None:
    assert machine().kernel > (2, 6)
    found = diagnose()
    assert [diagnosis.sandbox for diagnosis in found] == list(SANDBOXES)
    for diagnosis in found:
        assert diagnosis.usable == (SANDBOXES[diagnosis.sandbox].unavailable() is None)
        assert diagnosis.usable or (diagnosis.reason and diagnosis.remedy)
