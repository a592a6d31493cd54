#!/usr/bin/env python3
"""What check.py accepts, and what it reports."""
import sys
import unittest

sys.dont_write_bytecode = True
import check

WORKFLOW = """on: push
jobs:
  style:
    container: debian:bookworm
    steps:
      - uses: actions/checkout@v4
      - run: test/style

  servers:
    strategy:
      matrix:
        server: [SERVERS]
    container:
      image: debian:trixie
    steps:
      - run: test/run --server ${{ matrix.server }} asan
""".replace("SERVERS", ", ".join(check.known("server")))


class Workflows(unittest.TestCase):
    def expect(self, fault, old="", new=""):
        self.assertIn(old, WORKFLOW)
        found = "\n".join(check.faults(WORKFLOW.replace(old, new)))
        self.assertIn(fault, found)
        self.assertEqual(bool(fault), bool(found))

    def test_existing_scripts_and_arguments_are_accepted(self):
        self.expect("")

    def test_unknown_script_is_reported(self):
        self.expect("style: test/lint is no script", "test/style", "test/lint")

    def test_command_of_the_system_is_reported(self):
        self.expect("style: cmake is no script", "test/style", "cmake -S .")

    def test_unknown_argument_is_reported(self):
        self.expect('unknown argument "msan"', "asan", "msan")

    def test_unknown_server_is_reported(self):
        self.expect('unknown server "redis-5"', "redis-8", "redis-5")

    def test_missing_server_is_reported(self):
        self.expect("servers: the matrix has", ", redis-8", "")

    def test_unknown_suite_is_reported(self):
        self.expect('unknown argument "sid"', "debian:trixie", "debian:sid")

    def test_workflow_without_commands_is_reported(self):
        self.expect("no job has a command", WORKFLOW, "on: push\n")


if __name__ == "__main__":
    unittest.main()
