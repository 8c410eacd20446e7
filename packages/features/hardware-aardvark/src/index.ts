/**
 * `hardware-aardvark`: I2C, SPI and GPIO through an Aardvark adapter, and I2C of this computer. On with `[hardware]`; its tools are there
 * while an adapter is plugged in, or where `i2c_buses` names a bus.
 */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "hardware-aardvark",
  extends: "hardware",
  when: ({ enabled }) => enabled !== false,
  load: () => import("./feature.ts"),
});
