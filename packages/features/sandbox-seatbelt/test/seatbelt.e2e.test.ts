// The suite of all sandboxes, with the sandbox-exec of macOS; elsewhere only the profile's text is looked at (profile.test.ts).
import { sandboxConformance } from "@svc/testkit/conformance/sandbox-conformance";
import definition from "../src/index.ts";

sandboxConformance(definition, {
  missing: () =>
    process.platform === "darwin"
      ? undefined
      : { name: "seatbelt", reason: "sandbox-exec is a part of macOS, and this is another system", tier: "B" },
  unenforced: () => ["memoryMb", "pids"],
});
