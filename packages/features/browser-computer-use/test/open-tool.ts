/** The feature against the fake service, with the guarded client of the service between them. */
import { type ClientId, type Contributions, type Json, SvcError, type Tool } from "@svc/contract";
import { createGuardedFetch } from "@svc/kit";
import { captureLogger, type CapturedLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import type { ComputerUseServer } from "@svc/testkit/platforms/computer-use/server";
import * as v from "valibot";
import definition from "../src/index.ts";

export interface OpenTool {
  readonly made: Contributions;
  readonly tool: Tool;
  readonly log: CapturedLogger;
  call(input: Readonly<Record<string, unknown>>, client?: string): Promise<Record<string, Json>>;
}

export const SECTION = {
  enabled: true,
  backend: "computer_use",
  allowed_domains: ["example.com"],
  native_headless: true,
  idle_secs: 300,
  computer_use_endpoint: "http://127.0.0.1:8787/v1/actions",
  computer_use_windows: [],
};

export async function openTool(
  server: Pick<ComputerUseServer, "endpoint">,
  section: Readonly<Record<string, unknown>> = {},
): Promise<OpenTool> {
  const config = { ...SECTION, computer_use_endpoint: server.endpoint, ...section };
  const log = captureLogger();
  const clock = fakeClock();
  const fetch = createGuardedFetch({
    allowPrivate: [],
    exempt: [config.computer_use_endpoint],
    traceparent: () => undefined,
    log,
    clock,
  });
  // A name of the list that leads into a private network, as DNS rebinding has it; all others are public.
  const context = fakeFeatureContext<unknown>(config, {
    clock,
    fetch,
    resolve: async (url) => {
      if (new URL(url).hostname === "inside.example.com") throw new SvcError("ADDRESS_REFUSED");
      return ["93.184.215.14"];
    },
  });
  const made = (await definition.load()).create(context);
  await made.register?.(new AbortController().signal);
  const tool = made.tools?.[0] as Tool;
  const contexts = fakeToolContext();
  return {
    made,
    tool,
    log,
    call: async (input, client = "ada") =>
      (await tool.run(v.parse(tool.input, input), { ...contexts, clientId: client as ClientId })) as Record<
        string,
        Json
      >,
  };
}
