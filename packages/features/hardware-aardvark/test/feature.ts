/** The feature on a file system and a library of a test. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { captureLogger } from "@svc/testkit/capture-logger";
import type { Contributions } from "@svc/contract";
import * as v from "valibot";
import { aardvarkOf } from "../src/feature.ts";

interface Given {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly root: string;
  readonly home?: string;
}

export async function startFeature({ config = {}, root, home = "/nowhere" }: Given) {
  const { survey, create } = aardvarkOf(root);
  const { signal } = new AbortController();
  const log = captureLogger();
  const found = await survey({ config, siblings: {}, log, homeFolder: home }, signal);
  const context = fakeFeatureContext(config, { survey: found, homeFolder: home });
  const made: Contributions = create(context);
  const tools = made.tools ?? [];
  return {
    log,
    clock: context.clock,
    tools,
    names: tools.map(({ name }) => name),
    async call(name: string, input: object, callSignal = signal): Promise<unknown> {
      const tool = tools.find((one) => one.name === name)!;
      return await tool.run(v.parse(tool.input, input), fakeToolContext({ signal: callSignal }));
    },
    shutdown: async () => made.shutdown?.(),
  };
}

/** USB as the kernel shows it. */
export function writeUsb(root: string, ...devices: readonly { readonly id: string; readonly serial?: string }[]): void {
  for (const [index, { id, serial }] of devices.entries()) {
    const folder = join(root, "sys/bus/usb/devices", `1-${index + 1}`);
    mkdirSync(folder, { recursive: true });
    const [vendor = "", product = ""] = id.split(":");
    writeFileSync(join(folder, "idVendor"), `${vendor}\n`);
    writeFileSync(join(folder, "idProduct"), `${product}\n`);
    if (serial !== undefined) writeFileSync(join(folder, "serial"), `${serial}\n`);
  }
}
