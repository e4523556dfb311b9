"""Minimising of traces, without the Rust."""

import json
import unittest

import reference
import traces

Steps = list[traces.Json]


class Minimise(unittest.TestCase):
    """What is left shows the difference, and nothing can be taken from it."""

    def steps(self, count: int) -> Steps:
        """Steps that are told apart by their time."""
        return [{"now": number} for number in range(count)]

    def test_the_steps_that_matter_are_left_wherever_they_stand(self) -> None:
        for count in (1, 2, 3, 16, 33, 100):
            for wanted in ({0}, {count - 1}, {0, count - 1}, {count // 2, count // 3}, set(range(count))):
                with self.subTest(count=count, wanted=wanted):

                    def shows(steps: Steps, wanted: set[int] = wanted) -> bool:
                        return wanted <= {step["now"] for step in steps}

                    left = reference.minimise(self.steps(count), shows)
                    self.assertEqual([step["now"] for step in left], sorted(wanted))

    def test_a_difference_that_takes_either_of_two_steps_keeps_one(self) -> None:
        left = reference.minimise(self.steps(40), lambda steps: any(step["now"] in (7, 31) for step in steps))
        self.assertEqual(len(left), 1)

    def test_a_trace_is_written_as_the_files_of_vectors_have_it(self) -> None:
        trace = traces.read("hula")[0]
        again = json.loads(reference.as_vector(trace))
        self.assertEqual(again["steps"], trace["steps"])
        self.assertEqual(again["config"], trace["config"])
        self.assertEqual(set(again), set(trace) | {"counters"})


if __name__ == "__main__":
    unittest.main()
