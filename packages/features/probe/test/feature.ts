/** The feature on a fake context with a real connection. */
import { SvcError, type Tool } from "@svc/contract";
import type { ChipProbe } from "@svc/kit/hardware";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import * as v from "valibot";
import { create } from "../src/probe.ts";

export function probeFor(server: string) {
  const context = fakeFeatureContext(
    { gdb_server: server },
    { resolve: async () => Promise.reject(new SvcError("ADDRESS_REFUSED")) },
  );
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
