/** `peripheral-sbc`: the pins of the Raspberry Pi that svc runs on. It is on without a section, and contributes nothing elsewhere. */
import { defineFeature } from "@svc/contract";

export default defineFeature({ id: "peripheral-sbc", load: () => import("./sbc.ts") });
