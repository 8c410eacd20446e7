/** `sandbox-jail`: firejail around commands. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "sandbox-jail",
  extends: "security.sandbox",
  when: ({ enabled, backend }) => enabled === true && (backend === "auto" || backend === "jail"),
  load: () => import("./jail.ts"),
});
