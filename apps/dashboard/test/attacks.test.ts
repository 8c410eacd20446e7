// Hostile texts and hostile sites, in a real browser.
import { abuseCases } from "./cases/abuse.ts";
import { hostileCases } from "./cases/hostile.ts";
import { otherSiteCases } from "./cases/other-sites.ts";
import { sharedScene } from "./fixture/scene.ts";

const scene = sharedScene();

hostileCases(scene);
otherSiteCases(scene);
abuseCases(scene);
