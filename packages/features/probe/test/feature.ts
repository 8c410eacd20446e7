/** The feature on a fake context with a real connection. */
import { SvcError, type Tool } from "@svc/contract";
import type { ChipProbe } from "@svc/kit/hardware";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import * as v from "valibot";
import { create } from "../src/probe.ts";

/** `program`: of OpenOCD, where no server is configured. */
export function probeFor(server: string | { readonly program: string; readonly script: string }) {
  const isAddress = typeof server === "string";
  const context = fakeFeatureContext(isAddress ? { gdb_server: server } : { openocd_script: server.script }, {
    resolve: async () => Promise.reject(new SvcError("ADDRESS_REFUSED")),
    ...(!isAddress && { survey: server.program }),
  });
  const made = create(context);
  const [tool] = made.tools as [Tool];
  return {
    context,
    tool,
    chip: made.provides![0]!.value as ChipProbe,
    route: made.routes![0]!,
    read: (input: object, signal = new AbortController().signal): Promise<unknown> =>
      tool.run(v.parse(tool.input, input), fakeToolContext({ signal })),
  };
}
