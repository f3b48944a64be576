/* Names below example.com lead to this machine, whatever DNS says: for clients that resolve names by the C library.

   Those below silent.example.com have no answer while the file exists that NAMED_HOSTS_SILENT names: as the C library
   does, this waits long for one, and then says "try again". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char DOMAIN[] = ".example.com", SILENT[] = ".silent.example.com";
static const int WAITS = 400, MICROSECONDS = 50000;

static int is_below(const char *domain, const char *name)
{
    size_t length = strlen(name), tail = strlen(domain);
    return length > tail && strcmp(name + length - tail, domain) == 0;
}

static int is_silent(void)
{
    const char *file = getenv("NAMED_HOSTS_SILENT");
    return file && access(file, F_OK) == 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    int numeric = hints && hints->ai_flags & AI_NUMERICHOST;
    if (!name || numeric || !is_below(DOMAIN, name))
        return real(name, service, hints, found);
    for (int waits = 0; is_below(SILENT, name) && is_silent(); waits++) {
        if (waits == WAITS)
            return EAI_AGAIN;
        usleep(MICROSECONDS);
    }
    return real("127.0.0.1", service, hints, found);
}
