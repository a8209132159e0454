package Facade;

# What the tests of the façades share: the lines of an example, and requests.

use strict;
use warnings;

use Cwd qw(cwd);
use Exporter 'import';
use JSON::PP;

our @EXPORT = qw(facade post busy);


# examples/facades/NAME.conf, with more lines in its first location and more
# keys behind its policy.
sub facade {
    my ($name, $lines, $keys) = @_;
    my $lua = cwd() . '/lua';

    open my $in, '<', "examples/facades/$name.conf" or die "$name.conf: $!";
    my $text = do { local $/; <$in> };

    $lines //= '';
    $keys //= '';
    $text =~ s{sandbox_policy lua/}{sandbox_policy $lua/}g;
    $text =~ s/(?<=\{\n)/    $lines\n/;
    $text =~ s/(sandbox_policy [^;]+)/$1 $keys/;

    return $text;
}


# A body is text, or becomes JSON.
sub post {
    my ($uri, $body) = @_;

    $body = JSON::PP->new->canonical->utf8->encode($body) if ref $body;

    return "POST $uri\n$body";
}


# The example, and /both: what is sent there meets a façade that is busy,
# because its only slot sleeps.  Each goes its own way to the supervisor: the
# mirrored request at once, the other through a connection more.
sub busy {
    my ($name, $uri) = @_;

    return facade($name) . <<"CONF";
        location = /slow { sandbox python; sandbox_code ../html/slow.py; }
        location = /both {
            mirror /slow;
            proxy_pass http://127.0.0.1:\$TEST_NGINX_SERVER_PORT$uri;
        }
CONF
}

1;
