import argparse, ast, asyncio, bz2, cmd, codecs, colorsys, configparser, csv
import ctypes, difflib, dis, doctest, email, fnmatch, getpass, gettext, glob
import graphlib, gzip, hmac, html, http, importlib.metadata, ipaddress
import lzma, mimetypes, multiprocessing, optparse, pathlib, pickle, platform
import plistlib, secrets, select, selectors, shelve, shlex, shutil, signal
import socket, sqlite3, ssl, stat, subprocess, symtable, sysconfig, tarfile
import timeit, token, tomllib, tracemalloc, unicodedata, unittest, urllib
import urllib.request, uuid, wave, xml.etree.ElementTree, zipfile, zoneinfo
print("all imported")
