/** A model that never answers: with one turn at a time, what comes in is kept and nothing else goes on. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SilentModel extends AsyncDisposable {
  /** The part of a config that makes it the only one who answers. */
  readonly config: string;
}

export async function startSilentModel(): Promise<SilentModel> {
  const server = createServer((request) => void request.resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    config: `
[model]
provider = "openai-compatible"
name = "silent"
base_url = "http://127.0.0.1:${port}/v1"

[agent]
max_parallel_turns = 1

[daemon]
drain_secs = 0
`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
