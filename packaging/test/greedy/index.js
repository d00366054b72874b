// A worker that takes memory, or a processor, as long as it gets some.
const kept = [];
export default {
  async fetch(request) {
    switch (new URL(request.url).pathname) {
      case "/eat": // a byte of each page is enough; pings are answered between the pieces
        for (let i = 0; i < 128; i++) {
          const piece = new Uint8Array(8 << 20);
          for (let at = 0; at < piece.length; at += 4096) piece[at] = 1;
          kept.push(piece);
          await scheduler.wait(1);
        }
        return new Response("ate 1 GiB");
      case "/spin":
        for (;;);
    }
    return new Response("greedy");
  },
};
