for (const stream of [process.stdin, process.stdout, process.stderr]) {
  console.log(stream.isTTY, stream.fd, stream.writableHighWaterMark,
    stream.constructor.name, stream.readableHighWaterMark);
}
