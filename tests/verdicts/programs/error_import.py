# expect: error exit=1
# stderr: ModuleNotFoundError
# a module that is not there

import no_such_module
