import helper
from package import inner
from package.inner import value
print(helper.name(), inner.value, value, helper.__file__, inner.__package__)
