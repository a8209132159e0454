import io
import unittest


class Case(unittest.TestCase):
    def test_good(self):
        self.assertEqual(1, 1)

    def test_bad(self):
        self.assertEqual(1, 2)


runner = unittest.TextTestRunner(stream=io.StringIO())
try:
    unittest.main(testRunner=runner)
except SystemExit as end:
    print(end.code)
result = runner.run(unittest.defaultTestLoader.loadTestsFromTestCase(Case))
print(result, result.failures[0][1])
