"""The committed P4Info describes the tables, actions, counters and registers of the compiled programs: P4Runtime's clients go by it."""

import unittest

import compiled
from finsy.p4schema import P4Schema
from heddle_p4.program import Program, Table


class P4Info(unittest.TestCase):
    """Of the production build and of the test build, which has the same."""

    def check_table(self, schema: P4Schema, table: Table) -> None:
        """Keys and actions have the same names and bits, in the same order."""
        described = schema.tables[table.name]
        keys = tuple((field.match_type.name.lower(), field.bitwidth) for field in described.match_fields)
        self.assertEqual(keys, table.keys, table.name)
        for action in table.actions.values():
            parameters = described.actions[action.name].params
            self.assertEqual(tuple((each.name, each.bitwidth) for each in parameters), action.parameters, action.name)

    def test_programs_have_what_their_p4info_describes(self) -> None:
        for name in compiled.PROGRAMS:
            for test in (False, True):
                with self.subTest(program=name, test=test):
                    path = compiled.path(name, test)
                    program, schema = Program(path), P4Schema(compiled.p4info(path))
                    for table in schema.tables:
                        self.check_table(schema, program.tables[table.name])
                    # p4c makes tables without a key of conditions and actions; P4Info has those of the source.
                    hidden = [table for table in program.tables.values() if table.name not in {known.name for known in schema.tables}]
                    self.assertEqual([table.name for table in hidden if table.keys], [])
                    self.assertEqual({counter.name for counter in schema.counters}, set(program.counters.values()))
                    sizes = {register.name: register.size for register in schema.registers}
                    self.assertEqual(sizes, dict(program.registers.values()))


if __name__ == "__main__":
    unittest.main()
