/**
 * Whom root's commands run as in a workspace that has no other owner. Above every range that distributions and service managers
 * give out (below 65536) and below those of containers (524288 and up), so that nobody else is this user:
 * https://systemd.io/UIDS-GIDS/. It needs no line in /etc/passwd.
 */
export const SANDBOX_USER = Object.freeze({ uid: 242_617, gid: 242_617 });
