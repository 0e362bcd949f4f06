/** A server in a process of its own, so that a test can kill it: `server.child.ts <folder> [port]`. Says where it is. */
import { startServer } from './server.ts';

const [folder, port] = process.argv.slice(2);
const server = await startServer({ folder, port: Number(port ?? 0) });
const kubeconfig = await server.kubeconfig();
const { url, caPem } = server;
console.log(JSON.stringify({ url, caPem, kubeconfig, token: server.root.credentials.adminToken }));
setInterval(() => {
  for (const error of server.errors.splice(0)) console.error(error);
}, 50);
