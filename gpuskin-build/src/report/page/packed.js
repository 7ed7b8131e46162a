// Data within the page: base64 of gzip.

function fromBase64(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

async function inflate(packed) {
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  // A damaged stream rejects all three promises: the error is that of the bytes.
  writer.write(packed).catch(() => {});
  writer.close().catch(() => {});
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}

// Returns the content of an element.
function unpacked(id) {
  return inflate(fromBase64(document.getElementById(id).textContent));
}
