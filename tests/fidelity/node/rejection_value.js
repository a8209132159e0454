Promise.reject({ code: 5 });
