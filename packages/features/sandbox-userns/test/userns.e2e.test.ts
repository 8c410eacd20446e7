// bubblewrap confines: every promise of a sandbox is tried on it.
import { existsSync } from "node:fs";
import { sandboxConformance } from "@svc/testkit";
import definition from "../src/index.ts";

sandboxConformance(definition, {
  missing: () =>
    existsSync("/usr/bin/bwrap")
      ? undefined
      : { name: "bubblewrap", reason: "bwrap is not installed; apt-get install bubblewrap" },
});
