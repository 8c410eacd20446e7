// The built binary in a real browser. Only here is it seen whether a click reaches the daemon,
// whether a second page shows it, and whether anything is stale, double or lost when the daemon is killed in between.
import { approvalCases } from "./cases/approvals.ts";
import { chatCases } from "./cases/chat.ts";
import { incompleteAnswerCases } from "./cases/incomplete-answers.ts";
import { networkLossCases } from "./cases/network-loss.ts";
import { procedureCases } from "./cases/procedures.ts";
import { restartCases } from "./cases/restart.ts";
import { signInCases } from "./cases/sign-in.ts";
import { workCases } from "./cases/work.ts";
import { sharedScene } from "./fixture/scene.ts";

const scene = sharedScene();

signInCases(scene);
chatCases(scene);
incompleteAnswerCases(scene);
networkLossCases(scene);
approvalCases(scene);
workCases(scene);
procedureCases(scene);
restartCases(scene);
