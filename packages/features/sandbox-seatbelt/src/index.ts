/** `sandbox-seatbelt`: sandbox-exec of macOS around commands. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "sandbox-seatbelt",
  extends: "security.sandbox",
  when: ({ enabled, backend }) => enabled === true && (backend === "auto" || backend === "seatbelt"),
  load: () => import("./seatbelt.ts"),
});
