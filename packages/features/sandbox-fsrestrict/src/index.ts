/** `sandbox-fsrestrict`: Landlock and seccomp around commands. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "sandbox-fsrestrict",
  extends: "security.sandbox",
  when: ({ enabled, backend }) => enabled === true && (backend === "auto" || backend === "fsrestrict"),
  load: () => import("./fsrestrict.ts"),
});
