/** `browser-native`: the browser tool in process, as `rust_native`. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "browser-native",
  extends: "browser",
  when: ({ enabled, backend }) => enabled === true && backend === "native",
  load: () => import("./native.ts"),
});
