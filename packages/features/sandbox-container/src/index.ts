/** `sandbox-container`: a container around commands. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "sandbox-container",
  extends: "security.sandbox",
  when: ({ enabled, backend }) => enabled === true && (backend === "auto" || backend === "container"),
  load: () => import("./container.ts"),
});
