/** The feature: which adapters and buses there are, and the tools for them. */
import type { Contributions, FeatureContext, FeatureModule, Json } from "@svc/contract";
import { boardOfUsb, scanUsb } from "@svc/kit/hardware";
import { Aardvark } from "./aardvark.ts";
import type { I2cBus } from "./i2c-bus.ts";
import { LinuxI2c } from "./linux-i2c.ts";
import { toolsOf } from "./tools.ts";
import { findLibrary } from "./vendor-library.ts";

/** The keys of `[hardware]` that it reads. */
interface Config {
  readonly aardvark_library?: string;
  readonly i2c_buses?: readonly string[];
}

/** What a survey tells. */
interface Found {
  /** Adapters that are plugged in. */
  readonly adapters: number;
}

/** `root`: of the file system, another one in tests. */
export const aardvarkOf = (root: string): Required<FeatureModule> => ({
  async survey({ config, homeFolder, log }, signal): Promise<Json> {
    const { aardvark_library: file } = config as Config;
    const usb = (await scanUsb(root)).filter(
      ({ vendorId, productId }) => boardOfUsb(vendorId, productId)?.name === "aardvark",
    );
    if (usb.length > 0 || file === undefined) return { adapters: usb.length };
    // A library that is named may know adapters that the kernel does not show here, as in a container.
    try {
      const { VendorLibrary } = await import("./vendor-library.ts");
      const library = await VendorLibrary.open(await findLibrary(file, homeFolder));
      return { adapters: await library.countAdapters(signal) };
    } catch (error) {
      log.warn("could not ask the Aardvark library for adapters", { reason: (error as Error).message });
      return { adapters: 0 };
    }
  },
  create: (context) => contributionsOf(root, context as FeatureContext<Config>),
});

export const { survey, create } = aardvarkOf("/");

function contributionsOf(root: string, { config, survey, clock, homeFolder }: FeatureContext<Config>): Contributions {
  const { adapters } = (survey ?? { adapters: 0 }) as unknown as Found;
  const buses = config.i2c_buses ?? [];
  if (adapters === 0 && buses.length === 0) return {};
  const aardvarks = Array.from(
    { length: adapters },
    (_one, port) => new Aardvark({ port, clock, findLibrary: () => findLibrary(config.aardvark_library, homeFolder) }),
  );
  const linux = buses.map((bus): I2cBus => new LinuxI2c(root, bus));
  return {
    tools: toolsOf({ aardvarks, buses: [...aardvarks, ...linux] }),
    async shutdown() {
      for (const aardvark of aardvarks) await aardvark.close();
    },
  };
}
