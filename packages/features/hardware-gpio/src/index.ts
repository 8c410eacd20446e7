/** `hardware-gpio`: boards, their pins and their programs. `[hardware]` finds boards, `[peripherals]` names them. */
import { defineFeature } from "@svc/contract";
import { hardwareConfig, peripheralsConfig } from "./config.ts";

export default [
  defineFeature({
    id: "hardware-gpio",
    section: "hardware",
    config: hardwareConfig,
    load: () => import("./hardware.ts"),
    needs: (config) =>
      (["gdb_server", "openocd_script"] as const).flatMap((key) =>
        config[key] === undefined ? [] : [{ key, feature: "probe" }],
      ),
    commands: {
      "hardware discover": () => import("./hardware-command.ts"),
      "hardware introspect": () => import("./hardware-command.ts"),
    },
  }),
  defineFeature({
    id: "hardware-gpio-peripherals",
    partOf: "hardware-gpio",
    // All sections share the aliases.
    sharesState: true,
    section: "peripherals",
    config: peripheralsConfig,
    load: () => import("./peripherals.ts"),
    commands: { peripheral: () => import("./peripheral-command.ts") },
  }),
];
