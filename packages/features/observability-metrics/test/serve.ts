/** What the gateway does with an exposition: `GET /metrics`, with the content type of the specification. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { OpenedMetrics } from "./open-metrics.ts";

export interface Served extends AsyncDisposable {
  readonly url: string;
}

export async function serve(metrics: Pick<OpenedMetrics, "text">): Promise<Served> {
  const server = createServer((request, response) => {
    void metrics.text().then((text) => {
      const status = request.method === "GET" && request.url === "/metrics" ? 200 : 404;
      response.writeHead(status, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
