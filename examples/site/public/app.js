const answer = await fetch("/api/time");
document.querySelector("#time").textContent = (await answer.json()).now;
