/** `sandbox-userns`: bubblewrap around commands. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "sandbox-userns",
  extends: "security.sandbox",
  when: ({ enabled, backend }) => enabled === true && (backend === "auto" || backend === "userns"),
  load: () => import("./userns.ts"),
});
