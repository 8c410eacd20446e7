// A collector of traces that takes everything and keeps nothing.
import { createServer } from "node:http";

const server = createServer((incoming, outgoing) => {
  incoming.resume();
  incoming.once("end", () => {
    outgoing.writeHead(200, { "content-type": incoming.headers["content-type"] ?? "application/json" });
    outgoing.end(incoming.headers["content-type"] === "application/x-protobuf" ? "" : "{}");
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
process.once("SIGTERM", () => process.exit(0));
