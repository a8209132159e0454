# -*- coding: latin-1 -*-
text = "éè"
