const buffer = Buffer.from('héllo', 'utf8');
console.log(buffer, buffer.toString('base64'), buffer.readUInt16BE(1),
  Buffer.concat([buffer, Buffer.alloc(2)]), buffer.equals(Buffer.from(buffer)));
console.log(new TextDecoder('utf-16le').decode(new Uint8Array([104, 0])),
  new TextEncoder().encode('é'), btoa('x'), atob('eA=='));
