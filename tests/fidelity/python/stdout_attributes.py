import sys
for stream in (sys.stdin, sys.stdout, sys.stderr):
    print(stream.name, stream.mode, stream.encoding, stream.errors,
          stream.line_buffering, stream.write_through, stream.isatty(),
          stream.fileno(), stream.seekable(), stream.newlines,
          stream.buffer.raw.closefd, type(stream.buffer).__name__)
