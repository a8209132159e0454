# -*- coding: utf-8 -*-
print("é")
