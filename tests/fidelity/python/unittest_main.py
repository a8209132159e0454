import unittest


class Case(unittest.TestCase):
    def test_good(self):
        self.assertEqual(1, 1)

    def test_bad(self):
        self.assertEqual(1, 2)


try:
    unittest.main(verbosity=0)
except SystemExit as end:
    print(end.code)
