"""Suites of Django's own runner."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from execution.languages import python
from execution.languages.base import Refusal
from execution.languages.python_django import DjangoSuite, django_suite
from execution.observation import Outcome
from execution.recipe import Environment, Recipe
from tests.execution.python_bench import PlainBuilder, observe, request
from tests.support.memory_tree import MemoryTree

DATE = 1_760_000_000  # October 2025
MANAGE = "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site_of_ours.settings')\n"
TEST = (
    "from django.test import TestCase\nfrom polls.models import Poll\n"
    "class PollTest(TestCase):\n    def test_saved(self):\n        Poll.objects.create(name='a')\n"
    "        self.assertEqual(Poll.objects.count(), 1)\n"
)
SITE = {
    "manage.py": MANAGE,
    "requirements.txt": "django>=4.2\n",
    "site_of_ours/__init__.py": "",
    "site_of_ours/settings.py": (
        "SECRET_KEY = 'x'\nINSTALLED_APPS = ['polls']\nDEFAULT_AUTO_FIELD = 'django.db.models.AutoField'\n"
        "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\n"
    ),
    "polls/__init__.py": "",
    "polls/models.py": (
        "from django.db import models\nclass Poll(models.Model):\n    name = models.CharField(max_length=9)\n"
    ),
    "polls/tests.py": TEST,
}


@pytest.mark.parametrize(
    ("files", "suite"),
    [
        ({"manage.py": MANAGE}, DjangoSuite(script="manage.py", settings="site_of_ours.settings")),
        ({"runtests.py": "os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n"},
         DjangoSuite(script="runtests.py", settings="tests.settings")),
        ({"runtests.py": "settings = choose()\n"}, DjangoSuite(script="runtests.py", settings="")),
        ({}, None),
        ({"manage.py": MANAGE, "conftest.py": "from django.conf import settings\nsettings.configure()\n"}, None),
        ({"manage.py": MANAGE, "polls/tests.py": "import unittest\n"}, None),
    ],
)  # fmt: skip
def test_how_a_suite_of_django_is_started(files: dict[str, str], suite: DjangoSuite | None) -> None:
    assert django_suite(MemoryTree({"polls/tests.py": TEST, **files}), ".", ("polls/tests.py",)) == suite


def test_computed_settings_are_refused_by_name() -> None:
    tree = MemoryTree({**SITE, "manage.py": "import ours\nours.main()\n"})
    refused = python.plan(request(tree, ("polls/tests.py",), DATE))
    assert isinstance(refused, Refusal)
    assert refused.code == "runner-missing"
    assert "manage.py" in refused.detail


def test_a_suite_that_configures_the_plugin_itself_is_left_alone() -> None:
    tree = MemoryTree({**SITE, "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = other.settings\n"})
    made = python.plan(request(tree, ("polls/tests.py",), DATE))
    assert isinstance(made, Recipe)
    assert "--ds" not in python.check(made, ("polls/tests.py",)).command


@pytest.mark.network
@pytest.mark.skipif(bool(os.environ.get("CASEWRIGHT_NO_NETWORK")), reason="CASEWRIGHT_NO_NETWORK is set")
def test_a_site_is_tested_with_the_settings_that_its_script_names(tmp_path: Path) -> None:
    graded = ("polls/tests.py",)
    recipe = python.plan(request(MemoryTree(SITE), graded, DATE))
    assert isinstance(recipe, Recipe)
    builder = PlainBuilder(tmp_path)
    for path, text in SITE.items():
        (builder.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (builder.tree / path).write_text(text)
    environment = python.build(recipe, builder)
    assert isinstance(environment, Environment), environment
    (tmp_path / "env").symlink_to(builder.folder / "env")
    reading, outcome = observe(recipe, environment, builder.tree, python.check(recipe, graded), graded)
    assert [test.outcome for test in reading.tests] == [Outcome.PASSED], outcome.output
