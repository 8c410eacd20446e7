// The page as people have it: the built binary, a real browser. What no unit test sees is whether a click reaches the service,
// whether a second page hears of it, and whether anything is stale, doubled or lost when the service is killed in between.
import { approvalCases } from "./cases/approvals.ts";
import { chatCases } from "./cases/chat.ts";
import { cutOffCases } from "./cases/cut-off.ts";
import { networkLossCases } from "./cases/network-loss.ts";
import { procedureCases } from "./cases/procedures.ts";
import { restartCases } from "./cases/restart.ts";
import { signInCases } from "./cases/sign-in.ts";
import { workCases } from "./cases/work.ts";
import { sharedScene } from "./fixture/scene.ts";

const scene = sharedScene();

signInCases(scene);
chatCases(scene);
cutOffCases(scene);
networkLossCases(scene);
approvalCases(scene);
workCases(scene);
procedureCases(scene);
restartCases(scene);
